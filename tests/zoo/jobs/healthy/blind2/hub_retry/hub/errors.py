class HubHTTPError(ConnectionError):

    def __init__(self, status, url):
        super().__init__(f"{status} Server Error for url: {url}")
        self.status = status


class ChecksumError(ValueError):
    pass
