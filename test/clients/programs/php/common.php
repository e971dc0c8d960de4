<?php
// Code that the PHP programs share: the first argument names the action, and an error is printed as its library words it.
const FORM = 'application/octet-stream';
define('API', getenv('API_URL'));
define('AUTHORIZATION', 'Bearer ' . getenv('API_KEY'));
define('FILE', getenv('FILE'));

function run(array $actions): void
{
    try {
        $actions[$_SERVER['argv'][1]]();
    } catch (Throwable $error) {
        fwrite(STDERR, get_class($error) . ': ' . $error->getMessage() . "\n");
        exit(1);
    }
}

/** For libraries that treat an error status as an ordinary answer. */
function checked(int $status, string $body): void
{
    if ($status >= 400 || $status === 0) {
        throw new RuntimeException("$status: $body");
    }
    echo $body;
}
