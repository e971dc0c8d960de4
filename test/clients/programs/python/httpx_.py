import httpx
from common import FILE, HEADERS, URL, checked, main, show

api = httpx.Client(headers=HEADERS)


def call():
    answer = api.get(f"{URL}/things")
    checked(answer.status_code, answer.text)


def upload():
    with open(FILE, "rb") as file:
        answer = api.post(f"{URL}/files", files={"file": file})
    checked(answer.status_code, answer.text)


def stream():
    with api.stream("GET", f"{URL}/events") as answer:
        show(answer.iter_text())


main(call=call, upload=upload, stream=stream)
