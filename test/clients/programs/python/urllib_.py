import urllib.error
import urllib.request
from common import FILE, HEADERS, URL, checked, main, show


def open_(path, **options):
    return urllib.request.urlopen(urllib.request.Request(URL + path, headers=HEADERS, **options))


def call():
    try:
        print(open_("/things").read().decode())
    except urllib.error.HTTPError as error:
        checked(error.code, error.read().decode())


def upload():
    with open(FILE, "rb") as file:
        print(open_("/files/1", data=file.read(), method="PUT").read().decode())


def stream():
    show(open_("/events"))


main(call=call, upload=upload, stream=stream)
