import { openAsBlob } from 'node:fs'
import { Mistral } from '@mistralai/mistralai'
import { FILE, main } from './common.mjs'

const { MISTRAL_API_KEY, MISTRAL_URL } = process.env
const mistral = new Mistral({
  apiKey: MISTRAL_API_KEY,
  ...(MISTRAL_URL ? { serverURL: MISTRAL_URL } : {}),
})
const question = { model: 'mistral-large-latest', messages: [{ role: 'user', content: 'Hello' }] }

await main({
  call: async () => console.log((await mistral.chat.complete(question)).choices[0].message.content),
  stream: async () => {
    for await (const { data } of await mistral.chat.stream(question))
      console.log(data.choices[0].delta.content)
  },
  upload: async () => {
    const file = new File([await openAsBlob(FILE)], 'file.bin')
    console.log((await mistral.files.upload({ file })).id)
  },
})
