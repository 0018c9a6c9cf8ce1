#include "base/redact.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

/// One command a line, its arguments apart by " | ", the secret between the marks.
constexpr std::string_view kSpellings = R"list(train | --password | «hunter2»
train | --passwd | «hunter2»
train | --pass | «hunter2»
train | --pwd | «hunter2»
train | --passphrase | «hunter2»
train | --passcode | «hunter2»
train | --pw | «hunter2»
train | --db-pass | «hunter2»
train | --db-password | «hunter2»
train | --db_pwd | «hunter2»
train | --mysql-password | «hunter2»
train | --secret | «hunter2»
train | --client-secret | «hunter2»
train | --client_secret | «hunter2»
train | --app-secret | «hunter2»
train | --token | «hunter2»
train | --hf-token | «hunter2»
train | --hf_token | «hunter2»
train | --hub-token | «hunter2»
train | --hub_token | «hunter2»
train | --auth-token | «hunter2»
train | --access-token | «hunter2»
train | --access_token | «hunter2»
train | --api-token | «hunter2»
train | --bot-token | «hunter2»
train | --refresh-token | «hunter2»
train | --id-token | «hunter2»
train | --github-token | «hunter2»
train | --gitlab-token | «hunter2»
train | --slack-token | «hunter2»
train | --wandb-token | «hunter2»
train | --session-token | «hunter2»
train | --csrf-token | «hunter2»
train | --api-key | «hunter2»
train | --api_key | «hunter2»
train | --apikey | «hunter2»
train | --apiKey | «hunter2»
train | --openai-api-key | «hunter2»
train | --OPENAI_API_KEY | «hunter2»
train | --wandb-key | «hunter2»
train | --wandb-api-key | «hunter2»
train | --comet-api-key | «hunter2»
train | --neptune-key | «hunter2»
train | --access-key | «hunter2»
train | --aws-secret-access-key | «hunter2»
train | --secret-key | «hunter2»
train | --secret_key | «hunter2»
train | --private-key | «hunter2»
train | --encryption-key | «hunter2»
train | --signing-key | «hunter2»
train | --account-key | «hunter2»
train | --storage-key | «hunter2»
train | --ssh-key | «hunter2»
train | --license-key | «hunter2»
train | --master-key | «hunter2»
train | --deploy-key | «hunter2»
train | --credentials | «hunter2»
train | --credential | «hunter2»
train | --creds | «hunter2»
train | --auth | «hunter2»
train | --authorization | «hunter2»
train | --bearer | «hunter2»
train | --otp | «hunter2»
train | --cookie | «hunter2»
train | --sig | «hunter2»
train | --dsn | «hunter2»
train | --pat | «hunter2»
train | --jwt | «hunter2»
train | --webhook | «hunter2»
train | --privateKey | «hunter2»
train | --accessKey | «hunter2»
train | --secretKey | «hunter2»
train | --authToken | «hunter2»
train | --dbPassword | «hunter2»
train | --userPassword | «hunter2»
train | --redis-pass | «hunter2»
train | --smtp-pass | «hunter2»
train | --ftp-password | «hunter2»
train | --proxy-password | «hunter2»
train | --keystore-password | «hunter2»
train | --root-password | «hunter2»
train | --admin_password2 | «hunter2»
train | -password | «hunter2»
train | -passwd | «hunter2»
train | -token | «hunter2»
train | -secret | «hunter2»
train | --password=«hunter2»
train | --pass=«hunter2»
train | --passphrase=«hunter2»
train | --pw=«hunter2»
train | --db-password=«hunter2»
train | --mysql-password=«hunter2»
train | --client-secret=«hunter2»
train | --app-secret=«hunter2»
train | --hf-token=«hunter2»
train | --hub-token=«hunter2»
train | --auth-token=«hunter2»
train | --access_token=«hunter2»
train | --bot-token=«hunter2»
train | --id-token=«hunter2»
train | --gitlab-token=«hunter2»
train | --wandb-token=«hunter2»
train | --csrf-token=«hunter2»
train | --api_key=«hunter2»
train | --apiKey=«hunter2»
train | --OPENAI_API_KEY=«hunter2»
WANDB_API_KEY=«hunter2» | python | train.py
env | DB_PASSWORD=«hunter2» | python
env | AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY» | x
env | PGPASSWORD=«hunter2» | psql
env | MYSQL_PWD=«hunter2» | mysql
env | HUGGING_FACE_HUB_TOKEN=«hunter2»
env | SSHPASS=«hunter2»
docker | run | -e | DB_PASSWORD=«hunter2» | image
docker | run | --env=HF_TOKEN=«hunter2» | image
docker | login | -u | me | -p | «hunter2»
mysql | -u | root | -p«hunter2» | db
mysqldump | -p | «hunter2»
/usr/bin/mysql | -p | «hunter2»
sshpass | -p | «hunter2» | ssh | host
redis-cli | -a | «hunter2»
curl | -u | «me:hunter2» | https://host
curl | -H | Authorization: Bearer «abcdef0123456789»
curl | -H | authorization: bearer «abcdef0123456789»
curl | -H | Authorization: Basic «dXNlcjpwYXNzd29yZA==»
curl | -H | X-Api-Key: «hunter2»
curl | -H | X-Auth-Token: «hunter2»
curl | --header | Cookie: «session=hunter2»
curl | --header=X-API-KEY: «hunter2»
curl | --user | me | --auth | Bearer «abcdef0123456789»
train | --auth | «Bearer abcdef0123456789»
train | --auth=Bearer «abcdef0123456789»
train | --auth | «user:hunter2»
git | clone | https://«ghp_0123456789abcdefghij»@github.com/a/b
git | clone | https://me:«hunter2»@host/a
git | clone | https://«TOKEN»@host/a.git
git | clone | https://oauth2:«glpat-0123456789abcdef»@gitlab.com/a/b
pip | install | git+https://«0123456789abcdef0123»@github.com/a/b
pip | install | --find-links=https://me:«hunter2»@host/simple
pip | install | --extra-index-url | https://«hunter2»@host/simple
train | --db=postgres://me:«hunter2»@host:5432/db
train | --db-url | postgresql+psycopg2://me:«hunter2»@host/db
train | --broker=amqp://guest:«hunter2»@host//
train | --redis=redis://:«hunter2»@host:6379/0
train | --mongo=mongodb+srv://me:«hunter2»@cluster/x
train | --store=s3://key:«hunter2»@bucket/path
train | --url=https://host/path?token=«hunter2»
train | --url=https://host/path?a=1&api_key=«hunter2»&b=2
train | https://host/blob?sv=2020&sig=«hunter2»
train | https://host/x?access_token=«hunter2»
train | --webhook=«https://hooks.slack.com/services/T0/B0/hunter2»
train | {"password": "«hunter2»"}
train | {"a": 1, "api_key":"«hunter2»", "b": 2}
train | --config={"db": {"password": "«hunter2»"}}
train | --json | {\"token\": \"«hunter2»\"}
train | --opts | {'secret': '«hunter2»'}
train | --set | db.password=«hunter2»
train | +logger.api_key=«hunter2»
train | ++trainer.logger.token=«hunter2»
train | model.hf_token=«hunter2»
train | logger.wandb.api_key=«0123456789abcdef0123456789abcdef01234567»
train | --key | «0123456789abcdef0123456789abcdef01234567»
train | --key=«x9Kd2Lq0PzR7mN4vB1cT»
train | --wandb-key | «0123456789abcdef0123456789abcdef01234567»
train | --tokens=«hf_abcdefghijklmnopqrst»
train | -p | «x9Kd2Lq0PzR7»
train | «hf_abcdefghijklmnopqrst»
train | --x=«sk-0123456789abcdefg»
train | «sk-ant-api03-abcdefghijklmnop»
train | «sk-proj-abcdefghijklmnop0123»
train | «sk_live_0123456789abcdef»
train | «ghp_0123456789abcdefghij»
train | «gho_0123456789abcdefghij»
train | «ghs_0123456789abcdefghij»
train | «github_pat_0123456789abcdefghij»
train | «glpat-0123456789abcdefghij»
train | «xoxb-0123456789-abcdefghij»
train | «xoxp-0123456789-abcdefghij»
train | «xapp-0123456789-abcdefghij»
train | «AKIAIOSFODNN7EXAMPLE»
train | --id=«ASIAIOSFODNN7EXAMPLE»
train | «AIzaSyA0123456789abcdefghijklmnopqrstu»
train | «ya29.a0123456789abcdefghij»
train | «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk»
train | «wandb_v1_0123456789abcdef»
train | «npm_0123456789abcdefghijklmn»
train | «pypi-AgEIcHlwaS5vcmcCJDk0»
train | «dop_v1_0123456789abcdef0123»
train | «SG.0123456789abcdef.0123456789»
train | «shpat_0123456789abcdef»
train | «key-0123456789abcdef0123456789abcdef»
train | «r8_0123456789abcdefghij»
train | «gsk_0123456789abcdefghij»
train | «nvapi-0123456789abcdefghij»
train | «pplx-0123456789abcdefghij»
train | «dckr_pat_0123456789abcdef»
train | «lin_api_0123456789abcdef»
train | «glsa_0123456789abcdef»
train | «hvs.CAESIJ0123456789abcdef»
train | «dapi0123456789abcdef0123456789abcdef»
train | «xai-0123456789abcdefghij»
train | --any=«x9Kd2Lq0PzR7mN4vB1cT8sW3»
train | name=«x9Kd2Lq0PzR7mN4vB1cT8sW3»
sh | -c | export HF_TOKEN=«hunter2»; python train.py
sh | -c | python train.py --password=«hunter2» --lr 1
sh | -c | curl -H "Authorization: Bearer «abcdef0123456789»" host
sh | -c | TOKEN='«hunter2»' python x.py
python | -c | api_key = "«hunter2»"
python | -c | login(token="«hunter2»")
python | -c | wandb.login(key="«0123456789abcdef0123456789abcdef01234567»")
java | -Djavax.net.ssl.keyStorePassword=«hunter2»
train | -----BEGIN RSA PRIVATE KEY-----«MIIEpAIBAAKC»-----END RSA PRIVATE KEY-----
train | --secret:«hunter2»
az | --connection=DefaultEndpointsProtocol=https;AccountName=a;AccountKey=«hunter2»;x=y
train | --conn=Server=h;Uid=u;Pwd=«hunter2»;
train | --conn | host=h user=u password=«hunter2» dbname=d)list";

/// Commands without a secret: nothing of them is hidden.
constexpr std::string_view kHarmless = R"list(train | --max-tokens=512
train | --max_new_tokens | 128
train | --tokenizer | gpt2
train | --pad_token=<pad>
train | --eos-token | </s>
train | --num-tokens | 1000000
train | --special_tokens=a,b
train | --tokens-per-batch | 4096
train | --token-type-ids=1
train | --image-token | <image>
train | --key | loss
train | --metric-key=eval_loss
train | --sort-key | name
train | --label-key=label
train | --keys | a,b
train | --lr=3e-4 | --seed | 42
train | --passes | 2
train | --num-pass=2
train | --forward-pass
train | --use-auth-token
train | --use_auth_token=True
train | --token | false
train | --password=$DB_PASSWORD
train | --token=${HF_TOKEN}
train | --auth-mode=basic
train | --author=jane
train | --secretary=jane
train | --compass=north
train | --api-key-file=/run/secrets/key
train | --token-path | /run/secrets/token
train | hf_transfer
train | sk-learn
train | --model=meta-llama/Meta-Llama-3.1-8B-Instruct
train | --model | Qwen/Qwen2-VL-7B-Instruct-GPTQ-Int4
train | --model=mistralai/Mixtral-8x7B-Instruct-v0.1
train | --model | stabilityai/stable-diffusion-xl-base-1.0
train | --revision=0123456789abcdef0123456789abcdef01234567
train | --run-id | 3f2a9c1e
train | --uuid=123e4567-e89b-12d3-a456-426614174000
train | --output=runs/20261115-221500-7f3a
train | --ckpt=checkpoints/epoch=3-step=1200-val_loss=0.31.ckpt
train | data.path=s3://bucket/prefix/file.parquet
train | tcp://host:80/a@b
train | ssh://git@github.com/a/b.git
train | git@github.com:a/b.git
train | https://host/path?page=2&size=10
train | -p | 8080
train | -p | bf16
train | -p | patience
docker | run | -p | 8080:80 | image
python | -m | torch.distributed.run | --rdzv-endpoint=host:29500
python | -c | import torch; print(torch.__version__)
python | -c | print("basic training begins")
sh | -c | for i in 1 2 3; do echo $i; done
train | --time=12:30:05
train | --opts={"lr": 0.1, "name": "adam"}
train | ResNet50Imagenet1kV2
train | --name=EfficientNetB7NoisyStudent
train | PYTHONPATH=/a:/b
docker | run | nvcr.io/nvidia/pytorch:24.05-py3)list";

std::vector<std::string> Split(std::string_view text, std::string_view by) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(by, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + by.size();
  }
  return parts;
}

std::string Join(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& argument : arguments) {
    line += (line.empty() ? "" : " | ") + argument;
  }
  return line;
}

TEST(RedactSecrets, HidesTheSecretInEverySpelling) {
  constexpr std::string_view kOpen = "\u00ab", kClose = "\u00bb";
  int spellings = 0;
  for (std::string line : Split(kSpellings, "\n")) {
    const std::size_t open = line.find(kOpen);
    const std::size_t close = line.find(kClose);
    ASSERT_TRUE(open != std::string::npos && close != std::string::npos) << line;
    const std::string secret = line.substr(open + kOpen.size(), close - open - kOpen.size());
    line.erase(close, kClose.size());
    line.erase(open, kOpen.size());
    const std::vector<std::string> given = Split(line, " | ");
    const std::vector<std::string> shown = RedactSecrets(given);
    EXPECT_EQ(shown.size(), given.size());
    EXPECT_EQ(Join(shown).find(secret), std::string::npos) << line << "\n gives " << Join(shown);
    EXPECT_NE(Join(shown).find("***"), std::string::npos) << line;
    EXPECT_EQ(Join(RedactSecrets(shown)), Join(shown)) << "once hidden, it stays as it is";
    ++spellings;
  }
  EXPECT_GE(spellings, 200);
}

TEST(RedactSecrets, LeavesEverythingElseAlone) {
  for (const std::string& line : Split(kHarmless, "\n")) {
    EXPECT_EQ(Join(RedactSecrets(Split(line, " | "))), line);
  }
}

TEST(RedactSecrets, KeepsWhatStandsAroundTheSecret) {
  const auto one = [](const std::string& argument) { return RedactSecrets({argument}).front(); };
  EXPECT_EQ(one("https://me:pw@host:80/path"), "https://me:***@host:80/path");
  EXPECT_EQ(one("--url=https://h/p?a=1&token=x&b=2"), "--url=https://h/p?a=1&token=***&b=2");
  EXPECT_EQ(one("{\"lr\": 1, \"password\": \"x\", \"b\": 2}"),
            "{\"lr\": 1, \"password\": \"***\", \"b\": 2}");
  EXPECT_EQ(one("--api-key=abc"), "--api-key=***");
  EXPECT_EQ(Join(RedactSecrets({"--token", "--lr", "0.1"})), "--token | --lr | 0.1");
}

TEST(RedactText, HidesWhatIsMarkedInALine) {
  EXPECT_EQ(RedactText("wandb: login with hf_abcdefghijklmnopqrst done"),
            "wandb: login with *** done");
  EXPECT_EQ(RedactText("GET https://me:pw@host/x failed"), "GET https://me:***@host/x failed");
  EXPECT_EQ(RedactText("password=hunter2 lr=0.1"), "password=*** lr=0.1");
  EXPECT_EQ(RedactText("+ python train.py --db-pass hunter2 --lr 0.1"), "+ python train.py --db-pass *** --lr 0.1");
  EXPECT_EQ(RedactText("ran with --wandb-key 'a b' --max-tokens 5 --auth --fast"), "ran with --wandb-key '***' --max-tokens 5 --auth --fast");
  EXPECT_EQ(RedactText("--token"), "--token");
  const std::string plain = "epoch 3: loss=0.31 acc: 0.9, tokens: 512, token: the, basic blocks";
  EXPECT_EQ(RedactText(plain), plain);
}

/// Whatever the bytes are, the work is bounded and the text stays a text.
TEST(RedactText, TakesAnything) {
  std::string odd;
  for (int i = 0; i < 4096; ++i) {
    odd += static_cast<char>((i * 7 + i / 3) & 0xff);
    if (i % 64 == 0) {
      odd += "token=\"://:@ bearer ";
    }
  }
  for (std::size_t cut = 0; cut < odd.size(); cut += 13) {
    RedactText(std::string_view(odd).substr(cut));
    RedactSecrets({odd.substr(0, cut), odd.substr(cut)});
  }
}

}  // namespace
}  // namespace whystop
