from anthropic import Anthropic
from common import FILE, main

anthropic = Anthropic()
question = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 64,
    "messages": [{"role": "user", "content": "Hello"}],
}


def call():
    print(anthropic.messages.create(**question).content[0].text)


def upload():
    files = anthropic.beta.files if hasattr(anthropic.beta, "files") else anthropic.files
    with open(FILE, "rb") as file:
        print(files.upload(file=file).id)


def stream():
    with anthropic.messages.stream(**question) as answer:
        for word in answer.text_stream:
            print(word, flush=True)


main(call=call, upload=upload, stream=stream)
