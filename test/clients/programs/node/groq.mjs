import { createReadStream } from 'node:fs'
import Groq from 'groq-sdk'
import { FILE, main } from './common.mjs'

const groq = new Groq()
const question = { model: 'llama', messages: [{ role: 'user', content: 'Hello' }] }

await main({
  call: async () =>
    console.log((await groq.chat.completions.create(question)).choices[0].message.content),
  stream: async () => {
    const words = await groq.chat.completions.create({ ...question, stream: true })
    for await (const { choices } of words) console.log(choices[0].delta.content)
  },
  upload: async () => {
    console.log((await groq.files.create({ file: createReadStream(FILE), purpose: 'batch' })).id)
  },
})
