<?php
// What programs of PHP share: the first argument says what to do, an error is shown as its library has it.
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

/** Where an error status is an answer like others. */
function checked(int $status, string $body): void
{
    if ($status >= 400 || $status === 0) {
        throw new RuntimeException("$status: $body");
    }
    echo $body;
}
