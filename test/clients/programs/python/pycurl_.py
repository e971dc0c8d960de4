import io
import os

import pycurl
from common import FILE, HEADERS, URL, checked, main, show


def perform(path, write, **options):
    curl = pycurl.Curl()
    curl.setopt(curl.URL, URL + path)
    curl.setopt(curl.HTTPHEADER, [f"{name}: {value}" for name, value in HEADERS.items()])
    curl.setopt(curl.WRITEFUNCTION, write)
    if "SSL_CERT_FILE" in os.environ:
        # The library reads no variable that names authorities.
        curl.setopt(curl.CAINFO, os.environ["SSL_CERT_FILE"])
    for name, value in options.items():
        curl.setopt(getattr(curl, name), value)
    curl.perform()
    return curl.getinfo(curl.RESPONSE_CODE)


def call():
    body = io.BytesIO()
    checked(perform("/things", body.write), body.getvalue().decode())


def upload():
    body = io.BytesIO()
    with open(FILE, "rb") as file:
        status = perform("/files/1", body.write, UPLOAD=1, READDATA=file)
    checked(status, body.getvalue().decode())


def stream():
    perform("/events", lambda piece: show([piece]))


main(call=call, upload=upload, stream=stream)
