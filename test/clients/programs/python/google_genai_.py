import os

from common import main
from google import genai

url = os.environ.get("GOOGLE_GEMINI_BASE_URL")
google = genai.Client(**({"http_options": {"base_url": url}} if url else {}))
question = {"model": "gemini-2.5-flash", "contents": "Hello"}


def call():
    print(google.models.generate_content(**question).text)


def stream():
    for piece in google.models.generate_content_stream(**question):
        print(piece.text, flush=True)


main(call=call, stream=stream)
