from common import main
from huggingface_hub import InferenceClient
import os

client = InferenceClient(base_url=os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"), api_key=os.environ["OPENAI_API_KEY"])
question = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hello"}]}


def call():
    print(client.chat.completions.create(**question).choices[0].message.content)


def stream():
    for piece in client.chat.completions.create(**question, stream=True):
        print(piece.choices[0].delta.content, flush=True)


main(call=call, stream=stream)
