<?php
require 'GuzzleHttp/autoload.php';
require __DIR__ . '/common.php';

$api = new GuzzleHttp\Client(['headers' => ['Authorization' => AUTHORIZATION]]);

run([
    'call' => function () use ($api) {
        $answer = $api->get(API . '/things', ['http_errors' => false]);
        checked($answer->getStatusCode(), $answer->getBody());
    },
    'stream' => fn () => $api->get(API . '/events', ['sink' => STDOUT]),
    'upload' => function () use ($api) {
        $file = ['name' => 'file', 'contents' => fopen(FILE, 'r')];
        echo $api->post(API . '/files', ['multipart' => [$file]])->getBody();
    },
]);
