import boto3
from botocore.config import Config
from common import FILE, main, show

config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1})
s3 = boto3.client("s3", region_name="eu-central-1", config=config)
thing = {"Bucket": "things", "Key": "a file"}


def call():
    print(s3.get_object(**thing)["Body"].read().decode())


def upload():
    with open(FILE, "rb") as file:
        print(s3.put_object(**thing, Body=file)["ETag"])


def stream():
    body = s3.get_object(**thing)["Body"]
    show(iter(lambda: body.read1() if hasattr(body, "read1") else body._raw_stream.read1(), b""))


main(call=call, upload=upload, stream=stream)
