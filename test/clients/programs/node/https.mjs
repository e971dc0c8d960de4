import { createReadStream } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { API_URL, checked, FILE, headers, main, show } from './common.mjs'

function open(path, method = 'GET') {
  const sent = (API_URL.startsWith('https') ? request : requestHttp)(API_URL + path, {
    method,
    headers,
  })
  const answer = new Promise((resolve, reject) => sent.on('response', resolve).on('error', reject))
  return { sent, answer }
}

await main({
  call: async () => {
    const { sent, answer } = open('/things')
    sent.end()
    const { statusCode } = await answer
    console.log(checked(statusCode, await text(await answer)))
  },
  stream: async () => {
    const { sent, answer } = open('/events')
    sent.end()
    await show(await answer)
  },
  upload: async () => {
    const { sent, answer } = open('/files/1', 'PUT')
    await pipeline(createReadStream(FILE), sent)
    console.log(await text(await answer))
  },
})
