import cohere
from common import main

co = cohere.ClientV2()
question = {"model": "command-a-03-2025", "messages": [{"role": "user", "content": "Hello"}]}


def call():
    print(co.chat(**question).message.content[0].text)


def stream():
    for event in co.chat_stream(**question):
        if event.type == "content-delta":
            print(event.delta.message.content.text, flush=True)


main(call=call, stream=stream)
