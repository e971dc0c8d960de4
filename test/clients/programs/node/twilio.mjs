import twilio from 'twilio'
import { main } from './common.mjs'

const { TWILIO_AUTH_TOKEN, TWILIO_URL } = process.env
const client = twilio('AC00000000000000000000000000000000', TWILIO_AUTH_TOKEN)
if (TWILIO_URL) {
  // It has a host but no base path, so its requests are redirected.
  const { httpClient } = client
  const original = httpClient.request.bind(httpClient)
  httpClient.request = (options) =>
    original({ ...options, uri: options.uri.replace('https://api.twilio.com', TWILIO_URL) })
}

await main({
  call: async () =>
    console.log(
      (await client.messages.create({ to: '+15550001', from: '+15550002', body: 'Hello' })).body,
    ),
})
