"""Hand-written early stopping with too little patience."""

losses = [1.93, 1.41, 0.98, 0.71, 0.55, 0.47, 0.412, 0.431]
best, waited, patience = float("inf"), 0, 1
for epoch in range(1, 21):
    loss = losses[min(epoch, len(losses)) - 1]
    print(f"Epoch {epoch}/20 loss: {loss}", flush=True)
    if loss < best:
        best, waited = loss, 0
    else:
        waited += 1
    if waited >= patience:
        print("Early stopping: no improvement")
        break
