"""Policy gradient on a bandit."""
import torch

torch.manual_seed(0)
payoff = torch.tensor([0.1, 0.5, 0.9, 0.3])
policy = torch.nn.Linear(1, 4)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
baseline = 0.0
for episode in range(300):
    dist = torch.distributions.Categorical(logits=policy(torch.ones(16, 1)))
    action = dist.sample()
    reward = torch.bernoulli(payoff[action])
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    loss = -(dist.log_prob(action) * (reward - baseline)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 20 == 0:
        print(f"episode {episode} reward {reward.mean().item():.3f}")
