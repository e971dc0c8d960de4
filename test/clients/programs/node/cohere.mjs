import { CohereClientV2 } from 'cohere-ai'
import { main } from './common.mjs'

const { CO_API_KEY, CO_API_URL } = process.env
const cohere = new CohereClientV2({
  token: CO_API_KEY,
  ...(CO_API_URL ? { environment: CO_API_URL } : {}),
})
const question = { model: 'command-a-03-2025', messages: [{ role: 'user', content: 'Hello' }] }

await main({
  call: async () => console.log((await cohere.chat(question)).message.content[0].text),
  stream: async () => {
    for await (const event of await cohere.chatStream(question)) {
      if (event.type === 'content-delta') console.log(event.delta.message.content.text)
    }
  },
})
