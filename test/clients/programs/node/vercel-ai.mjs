import { createOpenAI } from '@ai-sdk/openai'
import { generateText, streamText } from 'ai'
import { main } from './common.mjs'

const { OPENAI_BASE_URL } = process.env
const openai = createOpenAI(OPENAI_BASE_URL ? { baseURL: OPENAI_BASE_URL } : {})
const question = { model: openai.chat('gpt-5'), prompt: 'Hello', maxRetries: 0 }

await main({
  call: async () => console.log((await generateText(question)).text),
  stream: async () => {
    for await (const word of streamText(question).textStream) console.log(word)
  },
})
