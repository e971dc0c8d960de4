<?php
require __DIR__ . '/common.php';

function open(string $path, array $options): array
{
    $curl = curl_init(API . $path);
    curl_setopt($curl, CURLOPT_RETURNTRANSFER, true);
    curl_setopt_array($curl, $options + [CURLOPT_HTTPHEADER => ['Authorization: ' . AUTHORIZATION]]);
    $body = curl_exec($curl);
    return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $body === false ? curl_error($curl) : $body];
}

run([
    'call' => fn () => checked(...open('/things', [])),
    'stream' => fn () => open('/events', [CURLOPT_WRITEFUNCTION => function ($curl, $piece) {
        echo $piece;
        return strlen($piece);
    }]),
    'upload' => fn () => checked(...open('/files', [CURLOPT_POSTFIELDS => ['file' => new CURLFile(FILE)]])),
]);
