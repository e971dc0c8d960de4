import niquests
from common import FILE, HEADERS, URL, checked, main, show

api = niquests.Session()
api.headers.update(HEADERS)


def call():
    answer = api.get(f"{URL}/things")
    checked(answer.status_code, answer.text)


def upload():
    with open(FILE, "rb") as file:
        answer = api.post(f"{URL}/files", files={"file": file})
    checked(answer.status_code, answer.text)


def stream():
    show(api.get(f"{URL}/events", stream=True).iter_content(-1))


main(call=call, upload=upload, stream=stream)
