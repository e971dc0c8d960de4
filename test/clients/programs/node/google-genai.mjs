import { GoogleGenAI } from '@google/genai'
import { main } from './common.mjs'

const { GEMINI_API_KEY, GOOGLE_GEMINI_BASE_URL } = process.env
const google = new GoogleGenAI({
  apiKey: GEMINI_API_KEY,
  httpOptions: GOOGLE_GEMINI_BASE_URL ? { baseUrl: GOOGLE_GEMINI_BASE_URL } : {},
})
const question = { model: 'gemini-2.5-flash', contents: 'Hello' }

await main({
  call: async () => console.log((await google.models.generateContent(question)).text),
  stream: async () => {
    for await (const piece of await google.models.generateContentStream(question))
      console.log(piece.text)
  },
})
