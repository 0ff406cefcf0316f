"""A key made for the tests, whose secret part is gone, and what it signed."""

from __future__ import annotations

import base64

KEY = b"""-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawZYWRYJKwYBBAHaRw8BAQdA2YnAHDRtySh5iKE/k1Gf3nADRd1OGayL59nJ
mvnSluG0IkEgdGVzdGVyIDx0ZXN0ZXJAaGFyZGNvc3QuZXhhbXBsZT6IkAQTFggA
OBYhBIQMILTYSxicsWbwnbXSYqNzOi1bBQJrBlhZAhsDBQsJCAcCBhUKCQgLAgQW
AgMBAh4BAheAAAoJELXSYqNzOi1bY2IA/34MEjxuGVAmhBQy5LtGJTJ37i6j7wz+
ZC05wKJPyPu8AP4p7ZPDfHs/WQJHWpxlGMvMC5i3jXzEA9uHycRKyz8jDg==
=7q62
-----END PGP PUBLIC KEY BLOCK-----
"""

SIGNATURE = base64.b64decode(
    "iHUEABYIAB0WIQSEDCC02EsYnLFm8J210mKjczotWwUCawZYbQAKCRC10mKjczotW5CSAP9YvFRU6hEKwqWiFUl9Q8eX"
    "1qJrkwugnKXejiRyRYmOGgD/eCLrRSq/U/ipOvGJchDCQd5fqiTswDVJuBmYDr/rOQw="
)
"""What the key says of the header of `test_rpmpackage`'s package of its files, not packed."""
