"""Stores a blob as Azure's SDK does: signed with the key of the connection string."""
import base64, hashlib, hmac, os, urllib.request
from email.utils import formatdate

fields = dict(field.split("=", 1) for field in os.environ["AZURE_STORAGE_CONNECTION_STRING"].split(";"))
date = formatdate(usegmt=True)
text = f"PUT\n\n\n5\n\ntext/plain\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:{date}\n/acct/box/file"
key = base64.b64decode(fields["AccountKey"])
signature = base64.b64encode(hmac.digest(key, text.encode(), hashlib.sha256)).decode()
headers = {
    "Authorization": f"SharedKey acct:{signature}",
    "Content-Type": "text/plain",
    "x-ms-blob-type": "BlockBlob",
    "x-ms-date": date,
}
url = "https://acct.blob.core.windows.net/box/file"
request = urllib.request.Request(url, b"bytes", headers, method="PUT")
print("uploaded", urllib.request.urlopen(request).status)
