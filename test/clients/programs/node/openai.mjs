import { createReadStream } from 'node:fs'
import OpenAI from 'openai'
import { FILE, main } from './common.mjs'

const openai = new OpenAI()
const question = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] }

await main({
  call: async () => {
    const { choices } = await openai.chat.completions.create(question)
    console.log(choices[0].message.content)
  },
  stream: async () => {
    const words = await openai.chat.completions.create({ ...question, stream: true })
    for await (const { choices } of words) console.log(choices[0].delta.content)
  },
  upload: async () => {
    const file = await openai.files.create({ file: createReadStream(FILE), purpose: 'user_data' })
    console.log(file.id)
  },
})
