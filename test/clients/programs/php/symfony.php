<?php
require 'Symfony/Component/HttpClient/autoload.php';
require __DIR__ . '/common.php';

$api = Symfony\Component\HttpClient\HttpClient::create(['headers' => ['Authorization' => AUTHORIZATION]]);

function read($answer): void
{
    checked($answer->getStatusCode(), $answer->getContent(false));
}

run([
    'call' => fn () => read($api->request('GET', API . '/things')),
    'stream' => function () use ($api) {
        foreach ($api->stream($api->request('GET', API . '/events', ['buffer' => false])) as $piece) {
            echo $piece->getContent();
        }
    },
    'upload' => fn () => read($api->request('PUT', API . '/files/1', ['body' => fopen(FILE, 'r')])),
]);
