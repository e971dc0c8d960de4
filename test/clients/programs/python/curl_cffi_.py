from common import FILE, HEADERS, URL, checked, main, show
from curl_cffi import requests

api = requests.Session(headers=HEADERS)


def call():
    answer = api.get(f"{URL}/things")
    checked(answer.status_code, answer.text)


def upload():
    with open(FILE, "rb") as file:
        answer = api.put(f"{URL}/files/1", data=file.read())
    checked(answer.status_code, answer.text)


def stream():
    show(api.get(f"{URL}/events", stream=True).iter_content())


main(call=call, upload=upload, stream=stream)
