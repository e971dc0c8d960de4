import httplib2
from common import FILE, HEADERS, URL, checked, main

api = httplib2.Http()


def call():
    answer, body = api.request(f"{URL}/things", headers=HEADERS)
    checked(answer.status, body.decode())


def upload():
    with open(FILE, "rb") as file:
        answer, body = api.request(f"{URL}/files/1", "PUT", body=file.read(), headers=HEADERS)
    checked(answer.status, body.decode())


main(call=call, upload=upload)
