import os

import urllib3
from common import FILE, HEADERS, URL, checked, main, show

proxy = os.environ.get("HTTPS_PROXY")
if proxy:
    # It reads no variable by itself.
    login = urllib3.make_headers(proxy_basic_auth=urllib3.util.parse_url(proxy).auth)
    api = urllib3.ProxyManager(proxy, proxy_headers=login, headers=HEADERS, ca_certs=os.environ["SSL_CERT_FILE"])
else:
    api = urllib3.PoolManager(headers=HEADERS)


def call():
    answer = api.request("GET", f"{URL}/things")
    checked(answer.status, answer.data.decode())


def upload():
    with open(FILE, "rb") as file:
        fields = {"file": ("file.bin", file.read())}
    answer = api.request("POST", f"{URL}/files", fields=fields, headers=HEADERS)
    checked(answer.status, answer.data.decode())


def stream():
    show(api.request("GET", f"{URL}/events", preload_content=False).read_chunked())


main(call=call, upload=upload, stream=stream)
