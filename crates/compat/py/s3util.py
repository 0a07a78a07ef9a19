"""Does in the S3 of the tests what netCDF-C's `s3util` does, which needs the inside of netCDF-C: scripts of its folder
`nczarr_test` call it.

Arguments: -u https://HOST/BUCKET[/KEY] [-k KEY] [-f FILE] COMMAND. `clear` deletes the object and the objects below its key, `upload` puts
a file, `download` writes one; the exit code of a download of an object that does not exist is 3. Requests go to the server that
`S3UTIL_ENDPOINT` names in place of HOST.

moto wants a request to have a signature, and does not verify it.
"""

import getopt
import os
import pathlib
import sys
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

HEADERS = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=AKID/20200101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
    # The default of urllib is the type of a form, the body of which moto does not store.
    "Content-Type": "application/octet-stream",
}


def request(method, path, content=None):
    """Returns the body of the answer. `path` begins with the name of the bucket."""
    url = f"{os.environ['S3UTIL_ENDPOINT']}/{path}"
    asked = urllib.request.Request(url, content, HEADERS, method=method)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked) as answer:
        return answer.read()


def get(bucket, key):
    return request("GET", f"{bucket}/{urllib.parse.quote(key)}")


def keys(bucket, prefix):
    """Returns the keys that begin with a prefix. A page has 1000 of them."""
    found, more = [], {}
    while True:
        query = urllib.parse.urlencode({"list-type": "2", "prefix": prefix, **more})
        page = xml.etree.ElementTree.fromstring(request("GET", f"{bucket}?{query}"))
        found.extend(key.text for key in page.findall("{*}Contents/{*}Key"))
        token = page.find("{*}NextContinuationToken")
        if token is None:
            return found
        more = {"continuation-token": token.text}


def bucket_and_key(url):
    """Returns the bucket of a URL, and the key behind it without slashes at its ends."""
    bucket, _, key = urllib.parse.urlsplit(url).path.strip("/").partition("/")
    return bucket, key


def main():
    options, (command,) = getopt.getopt(sys.argv[1:], "u:k:f:")
    options = dict(options)
    bucket, key = bucket_and_key(f"{options['-u']}/{options.get('-k', '').lstrip('/')}")
    if command == "clear":
        for found in [found for found in keys(bucket, key) if f"{found}/".startswith(f"{key}/")]:
            request("DELETE", f"{bucket}/{urllib.parse.quote(found)}")
    elif command == "upload":
        request("PUT", f"{bucket}/{urllib.parse.quote(key)}", pathlib.Path(options["-f"]).read_bytes())
    elif command == "download":
        try:
            content = get(bucket, key)
        except urllib.error.HTTPError as error:
            sys.exit(3 if error.code == 404 else f"{key}: {error}")
        pathlib.Path(options["-f"]).write_bytes(content)
    else:
        sys.exit(f"no such command: {command}")


if __name__ == "__main__":
    main()
