"""The S3 that the environment names, as Python's programs for Zarr open it."""

import os

import zarr
from obstore.store import S3Store


def endpoint():
    return os.environ["AWS_ENDPOINT_URL"]


def of_zarr(bucket, key):
    """Returns a store of zarr-python."""
    store = S3Store(
        bucket,
        prefix=key,
        endpoint=endpoint(),
        region=os.environ["AWS_REGION"],
        access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
        secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
        client_options={"allow_http": True},
    )
    return zarr.storage.ObjectStore(store)


def of_tensorstore(bucket, key):
    """Returns tensorstore's description of a folder in a bucket."""
    return {"driver": "s3", "bucket": bucket, "path": key, "endpoint": endpoint(), "aws_region": os.environ["AWS_REGION"]}
