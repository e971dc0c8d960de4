// tier: quick
/** Model tokens are read from the answers of three vendors, whole and in pieces, and no text can lower them. */
import { describe, expect, test } from 'bun:test'
import { ModelUsage } from '../../../src/outbound/traffic/model_usage.ts'

const JSON_BODY = { isJson: true, frames: 'json' } as const
const EVENTS = { isJson: false, frames: 'events' } as const

type Kind = typeof JSON_BODY | typeof EVENTS

/** In one piece, byte by byte, and in pieces of seven. */
function tokensIn(text: string, kind: Kind = JSON_BODY): number {
  const bytes = new TextEncoder().encode(text)
  const counts = [bytes.length, 1, 7].map((size) => {
    const usage = new ModelUsage()
    const reader = usage.open(kind)
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
    return usage.tokens
  })
  expect(new Set(counts).size).toBe(1)
  return counts[0] ?? Number.NaN
}

const events = (list: readonly unknown[], { named = false, end = '\n' } = {}) =>
  list
    .map((data) => {
      const type = (data as { type?: string }).type
      return `${named ? `event: ${type}${end}` : ''}data: ${JSON.stringify(data)}${end}${end}`
    })
    .join('')

const chatUsage = { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 }
const chat = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
  usage: { ...chatUsage, prompt_tokens_details: { cached_tokens: 4 } },
}
const chunk = (content: string, usage: object | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content } }],
  usage,
})
const responseUsage = {
  input_tokens: 36,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 87,
  total_tokens: 123,
}
const message = {
  id: 'msg_1',
  type: 'message',
  content: [{ type: 'text', text: 'Hi!' }],
  usage: {
    input_tokens: 25,
    cache_creation_input_tokens: 100,
    cache_read_input_tokens: 1000,
    output_tokens: 12,
  },
}
const messageEvents = [
  {
    type: 'message_start',
    message: { ...message, content: [], usage: { input_tokens: 25, output_tokens: 1 } },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 15 } },
  { type: 'message_stop' },
]
const gemini = (usageMetadata: object) => ({
  candidates: [{ content: { parts: [{ text: 'Hi' }], role: 'model' } }],
  usageMetadata,
})
const geminiUsage = {
  promptTokenCount: 8,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 30,
  totalTokenCount: 43,
}

describe('reported model tokens', () => {
  test.each<[string, string, Kind, number]>([
    ['an OpenAI chat completion', JSON.stringify(chat), JSON_BODY, 29],
    [
      'a streamed OpenAI chat completion with include_usage',
      `${events([chunk('Hel'), chunk('lo'), { ...chunk(''), choices: [], usage: chatUsage }])}data: [DONE]\n\n`,
      EVENTS,
      29,
    ],
    [
      'an OpenAI response',
      JSON.stringify({ object: 'response', output: [], usage: responseUsage }),
      JSON_BODY,
      123,
    ],
    [
      'a streamed OpenAI response with a long last event',
      events(
        [
          { type: 'response.output_text.delta', delta: 'x' },
          {
            type: 'response.completed',
            response: { output: ['y'.repeat(200_000)], usage: responseUsage },
          },
        ],
        { named: true },
      ),
      EVENTS,
      123,
    ],
    ['an Anthropic message with cached input', JSON.stringify(message), JSON_BODY, 1137],
    ['a streamed Anthropic message', events(messageEvents, { named: true }), EVENTS, 40],
    [
      'a stream with carriage returns',
      events(messageEvents, { named: true, end: '\r\n' }),
      EVENTS,
      40,
    ],
    ['a Gemini answer', JSON.stringify(gemini(geminiUsage)), JSON_BODY, 43],
    [
      'a streamed Gemini array',
      JSON.stringify([gemini({ promptTokenCount: 8, totalTokenCount: 8 }), gemini(geminiUsage)]),
      JSON_BODY,
      43,
    ],
    ['streamed Gemini events', events([gemini({}), gemini(geminiUsage)]), EVENTS, 43],
  ])('model tokens of %s are counted', (_, text, kind, tokens) => {
    expect(tokensIn(text, kind)).toBe(tokens)
  })

  test('model tokens of several messages on one WebSocket add up', () => {
    const usage = new ModelUsage()
    const done = JSON.stringify({ type: 'response.done', response: { usage: responseUsage } })
    for (const text of [done, '{"type":"response.text.delta"}', done])
      usage.readMessage(new TextEncoder().encode(text))
    expect(usage.tokens).toBe(246)
  })
})

describe('usage that is not the vendor’s', () => {
  const inText = '{"usage":{"total_tokens":0}} {"usage":{"total_tokens":900}}'
  test.each<[string, unknown, number]>([
    ['in the text of a model', { ...chat, text: inText }, 29],
    ['deep in an answer', { ...chat, choices: [{ usage: { total_tokens: 900 } }] }, 29],
    [
      'in the input of a tool',
      { ...message, content: [{ input: { usage: { total_tokens: 9e5 } } }] },
      1137,
    ],
    ['that is negative', { usage: { total_tokens: -5, prompt_tokens: 7 } }, 7],
    ['that is text', { usage: { total_tokens: '900' } }, 0],
    ['that is null', { usage: null }, 0],
    ['that is a list', { usage: [{ total_tokens: 900 }] }, 0],
    ['in an unknown field', { usage: { total_bytes: 900 } }, 0],
    ['of an API without models', { usage: { requests: 3 }, response: { id: 1 } }, 0],
  ])('%s does not count', (_, answer, tokens) => {
    expect(tokensIn(JSON.stringify(answer))).toBe(tokens)
  })

  test.each<[string, string, number]>([
    ['given twice', '{"usage":{"total_tokens":9},"usage":{"total_tokens":1}}', 9],
    ['with an escaped name', '{"us\\u0061ge":{"total_tokens":9}}', 9],
    ['that is huge', '{"usage":{"total_tokens":1e308}}', 1e12],
    ['that is infinite', '{"usage":{"total_tokens":1e999}}', 1e12],
    ['that is a fraction', '{"usage":{"total_tokens":0.5}}', 1],
    ['after broken JSON', 'oops {"usage":{"total_tokens":9}}', 0],
    ['with a name that JSON has not', '{"usage":{"total_tokens":NaN}}', 0],
    ['behind a string with quotes', '{"a":"\\"}{\\\\","usage":{"total_tokens":9}}', 9],
    ['behind other brackets', '{"a":[}],"usage":{"total_tokens":9}}', 0],
    ['in the second of two documents', '{"a":1}\n{"usage":{"total_tokens":9}}', 9],
    ['with a long member', `{"usage":{"x":"${'y'.repeat(20_000)}","total_tokens":9}}`, 0],
  ])('%s is read correctly', (_, text, tokens) => {
    expect(tokensIn(text)).toBe(tokens)
  })

  test('later usage cannot lower the amount of an earlier event', () => {
    const later = { type: 'message_delta', usage: { output_tokens: 0, input_tokens: 0 } }
    expect(tokensIn(events([...messageEvents, later]), EVENTS)).toBe(40)
  })

  test('usage is not read from event fields other than data', () => {
    const text = 'event: {"usage":{"total_tokens":9}}\nid: data: {"usage":{"total_tokens":9}}\n\n'
    expect(tokensIn(text, EVENTS)).toBe(0)
  })

  test('usage costs little to read, however deep and long an answer is', () => {
    const deep = '['.repeat(1_000_000)
    expect(tokensIn(`{"a":${deep}`)).toBe(0)
    expect(tokensIn(`{"${'n'.repeat(1_000_000)}":1,"usage":{"total_tokens":9}}`)).toBe(9)
  })
})
