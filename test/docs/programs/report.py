"""Reads an object as google-auth does: an assertion signed with the account's key buys a token."""
import base64, json, os, subprocess, time, urllib.parse, urllib.request

TOKEN_URL = "https://oauth2.googleapis.com/token"
account = json.load(open(os.environ["GOOGLE_APPLICATION_CREDENTIALS"]))
now = int(time.time())
header = {"alg": "RS256", "typ": "JWT", "kid": account["private_key_id"]}
claims = {"iss": account["client_email"], "aud": TOKEN_URL, "iat": now, "exp": now + 3600}


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


text = ".".join(encode(json.dumps(part).encode()) for part in [header, claims])
with open("private.pem", "w") as file:
    file.write(account["private_key"])
sign = ["openssl", "dgst", "-sha256", "-sign", "private.pem"]
signature = subprocess.run(sign, input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": f"{text}.{encode(signature)}"}
answer = urllib.request.urlopen(TOKEN_URL, urllib.parse.urlencode(form).encode())
token = json.load(answer)["access_token"]
headers = {"Authorization": f"Bearer {token}"}
request = urllib.request.Request("https://storage.googleapis.com/report", headers=headers)
print("report:", urllib.request.urlopen(request).read().decode())
