import { createReadStream } from 'node:fs'
import Anthropic from '@anthropic-ai/sdk'
import { FILE, main } from './common.mjs'

const anthropic = new Anthropic()
const question = {
  model: 'claude-sonnet-5-5',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Hello' }],
}

await main({
  call: async () => console.log((await anthropic.messages.create(question)).content[0].text),
  stream: async () => {
    const answer = anthropic.messages.stream(question).on('text', (text) => console.log(text))
    await answer.finalMessage()
  },
  upload: async () => {
    const files = anthropic.beta?.files ?? anthropic.files
    console.log((await files.upload({ file: createReadStream(FILE) })).id)
  },
})
