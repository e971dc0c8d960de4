import os

from common import FILE, URL, main, show
from google.cloud import storage
from google.oauth2.credentials import Credentials

client = storage.Client(
    project="things",
    credentials=Credentials(os.environ["ACCESS_TOKEN"]),
    client_options={"api_endpoint": URL} if URL else None,
)
thing = client.bucket("things").blob("a file")


class Shown:
    def write(self, piece):
        show([piece])


def upload():
    thing.upload_from_filename(FILE, retry=None)
    print(thing.id)


main(
    call=lambda: print(thing.download_as_text(retry=None)),
    upload=upload,
    stream=lambda: thing.download_to_file(Shown(), checksum=None, retry=None),
)
