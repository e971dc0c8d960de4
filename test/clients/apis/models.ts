/** Vendors of language models. */
import { type Api, eventsOf } from './api.ts'

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const chat = { id: 'chatcmpl-1', created: 1, model: 'any' }

/** The format of OpenAI, which other vendors adopted. */
const openaiAnswers: Api['answers'] = {
  call: (content) => {
    const message = { role: 'assistant', content, refusal: null }
    const choices = [{ index: 0, finish_reason: 'stop', logprobs: null, message }]
    return { body: { ...chat, object: 'chat.completion', choices, usage } }
  },
  stream: (words) =>
    eventsOf([
      ...words.map((content) => {
        const choices = [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]
        return { ...chat, object: 'chat.completion.chunk', choices }
      }),
      '[DONE]',
    ]),
  upload: (receipt) => ({
    body: {
      ...{ id: receipt, object: 'file', bytes: 1, created_at: 1, filename: 'file.bin' },
      ...{ purpose: 'user_data', status: 'processed' },
    },
  }),
  error: (message) => ({
    status: 404,
    body: { error: { message, type: 'invalid_request_error', param: null, code: 'not_found' } },
  }),
}

const openai: Api = {
  host: 'api.openai.com',
  credentials: { OPENAI_API_KEY: 'sk-proj-' },
  base: { OPENAI_BASE_URL: '/v1' },
  answers: openaiAnswers,
}

const claude = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'any', stop_sequence: null },
  usage: { input_tokens: 1, output_tokens: 1 },
}

const anthropic: Api = {
  host: 'api.anthropic.com',
  credentials: { ANTHROPIC_API_KEY: 'sk-ant-api03-' },
  base: { ANTHROPIC_BASE_URL: '' },
  answers: {
    call: (text) => ({
      body: { ...claude, content: [{ type: 'text', text }], stop_reason: 'end_turn' },
    }),
    stream: (words) => {
      const delta = (text: string) => ({ index: 0, delta: { type: 'text_delta', text } })
      const events = [
        { type: 'message_start', message: { ...claude, content: [], stop_reason: null } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        ...words.map((word) => ({ type: 'content_block_delta', ...delta(word) })),
        { type: 'content_block_stop', index: 0 },
        {
          ...{ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } },
          usage: { output_tokens: 2 },
        },
        { type: 'message_stop' },
      ]
      const pieces = events.map(
        (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
      )
      // The first word arrives with the text before it.
      return {
        type: 'text/event-stream',
        pieces: [pieces.slice(0, 3).join(''), ...pieces.slice(3)],
      }
    },
    upload: (receipt) => ({
      body: {
        ...{ id: receipt, type: 'file', filename: 'file.bin', mime_type: 'text/plain' },
        ...{ size_bytes: 1, created_at: '2026-01-01T00:00:00Z', downloadable: false },
      },
    }),
    error: (message) => ({
      status: 404,
      body: { type: 'error', error: { type: 'not_found_error', message }, request_id: 'req_1' },
    }),
  },
}

const groq: Api = {
  host: 'api.groq.com',
  credentials: { GROQ_API_KEY: 'gsk_' },
  base: { GROQ_BASE_URL: '' },
  answers: openaiAnswers,
}

const mistral: Api = {
  host: 'api.mistral.ai',
  credentials: { MISTRAL_API_KEY: '' },
  base: { MISTRAL_URL: '' },
  answers: {
    ...openaiAnswers,
    upload: (receipt) => ({
      body: {
        ...{ id: receipt, object: 'file', bytes: 1, created_at: 1, filename: 'file.bin' },
        ...{ purpose: 'ocr', sample_type: 'ocr_input', source: 'upload' },
      },
    }),
  },
}

const cohere: Api = {
  host: 'api.cohere.com',
  credentials: { CO_API_KEY: '' },
  base: { CO_API_URL: '' },
  answers: {
    call: (text) => ({
      body: {
        ...{ id: '1', finish_reason: 'COMPLETE', prompt: null },
        message: { role: 'assistant', content: [{ type: 'text', text }] },
      },
    }),
    stream: (words) =>
      eventsOf(
        words.map((text) => ({
          ...{ type: 'content-delta', index: 0 },
          delta: { message: { content: { text } } },
        })),
      ),
    error: (message) => ({ status: 404, body: { message } }),
  },
}

const candidates = (text: string) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }],
})

const gemini: Api = {
  host: 'generativelanguage.googleapis.com',
  credentials: { GEMINI_API_KEY: 'AIza' },
  base: { GOOGLE_GEMINI_BASE_URL: '' },
  answers: {
    call: (text) => ({ body: candidates(text) }),
    stream: (words) => eventsOf(words.map(candidates)),
    error: (message) => ({
      status: 404,
      body: { error: { code: 404, message, status: 'NOT_FOUND' } },
    }),
  },
}

export const models = { openai, anthropic, groq, mistral, cohere, gemini }
