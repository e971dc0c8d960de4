// tier: quick
/** One entry changes, and every other byte of the file stays. */
import { describe, expect, test } from 'bun:test'
import { withEntry } from '../../../src/cli/agent_setup/formats.ts'
import { json } from '../../../src/cli/agent_setup/json.ts'
import { toml } from '../../../src/cli/agent_setup/toml.ts'

const entry = { command: 'cloakroom', args: ['mcp', '--agent', 'deploy-bot'] }
const formats = { json, toml }
const write = (format: keyof typeof formats, text: string, given: typeof entry | null = entry) =>
  withEntry(
    formats[format],
    text,
    [format === 'json' ? 'mcpServers' : 'mcp_servers', 'cloakroom'],
    given,
  )

const JSON_ENTRY = `"cloakroom": {
      "command": "cloakroom",
      "args": [
        "mcp",
        "--agent",
        "deploy-bot"
      ]
    }`
const TABLE = `[mcp_servers.cloakroom]
command = "cloakroom"
args = [ "mcp", "--agent", "deploy-bot" ]
`

type Case = [name: string, before: string, after: string]

describe('JSON', () => {
  const cases: Case[] = [
    ['no file', '', `{\n  "mcpServers": {\n    ${JSON_ENTRY}\n  }\n}\n`],
    [
      'other servers, comments and a trailing comma',
      '{\n  // ours\n  "mcpServers": {\n    "other": { "url": "https://a.example" }, // kept\n  },\n}\n',
      `{\n  // ours\n  "mcpServers": {\n    "other": { "url": "https://a.example" }, // kept\n    ${JSON_ENTRY},\n  },\n}\n`,
    ],
    [
      'a neighbour with a comment and no comma',
      '{\n  "mcpServers": {\n    "other": { "url": "x" } // kept\n  }\n}\n',
      `{\n  "mcpServers": {\n    "other": { "url": "x" }, // kept\n    ${JSON_ENTRY}\n  }\n}\n`,
    ],
    [
      'no servers yet',
      '{\n  "theme":   "dark" // kept\n}',
      `{\n  "theme":   "dark", // kept\n  "mcpServers": {\n    ${JSON_ENTRY}\n  }\n}`,
    ],
    [
      'all in one line',
      '{"mcpServers":{"other":{"url":"x"}}}',
      `{"mcpServers":{"other":{"url":"x"}, "cloakroom": ${JSON.stringify(entry)}}}`,
    ],
    [
      'an earlier entry between others',
      '{"a":  1,\n  "mcpServers": {\n    "x": {},\n    "cloakroom": { "command": "old" },\n    "y": [1,  2]\n  }}',
      `{"a":  1,\n  "mcpServers": {\n    "x": {},\n    ${JSON_ENTRY},\n    "y": [1,  2]\n  }}`,
    ],
  ]
  test.each(cases)('%s', (_, before, after) => {
    expect(write('json', before).text).toBe(after)
    expect(write('json', after)).toEqual({ before: entry, text: after })
  })

  test('the entry uses the tabs and line endings of its file', () => {
    const { text } = write('json', '{\r\n\t"mcpServers": {}\r\n}\r\n')
    expect(text).toStartWith('{\r\n\t"mcpServers": {\r\n\t\t"cloakroom": {\r\n\t\t\t"command"')
    expect(text.replaceAll('\r\n', '')).not.toContain('\n')
  })

  const OTHERS =
    '{\n  "mcpServers": {\n    // first\n    "a": {}, // kept\n    // second\n    "b": {} // too\n  }\n}\n'
  test.each([
    ['the first', OTHERS.replace('    // first', '    "cloakroom": {\n    },\n    // first')],
    [
      'in the middle',
      OTHERS.replace('    // second', '    "cloakroom": {}, // ours\n    // second'),
    ],
    ['the last', OTHERS.replace('{} // too', '{}, // too\n    "cloakroom": { "a": [1] }')],
  ])('removing the entry keeps the others: %s', (_, before) => {
    expect(write('json', before, null).text).toBe(OTHERS)
  })

  test('an entry is removed from a file of one line, and a file without the entry stays unchanged', () => {
    const { text } = write('json', '{"mcpServers":{"cloakroom":{},"b":{}}}', null)
    expect(text).toBe('{"mcpServers":{"b":{}}}')
    expect(write('json', OTHERS, null)).toEqual({ before: null, text: OTHERS })
    const own = write('json', '').text
    expect(write('json', own, null).text).toBe('{\n  "mcpServers": {\n  }\n}\n')
  })

  test.each([
    ['cut off', '{ "mcpServers": {'],
    ['a list', '[]'],
    ['servers in a list', '{ "mcpServers": [] }'],
    ['the servers twice', '{ "mcpServers": {}, "mcpServers": { "a": {} } }'],
    ['something else', 'mcpServers:\n'],
  ])('an edit is rejected: %s', (_, text) => {
    expect(() => write('json', text)).toThrow()
  })
})

describe('TOML', () => {
  const other = 'model = "x" # best\n\n# mine\n[mcp_servers.other]\nurl = "https://a.example"\n'
  const cases: Case[] = [
    ['no file', '', TABLE],
    ['other tables and comments', other, `${other}\n${TABLE}`],
    ['no last line end', 'a = 1', `a = 1\n\n${TABLE}`],
    [
      'an earlier table with tables below it, between others',
      `a = 1\n\n[ mcp_servers . "cloakroom" ]\ncommand = "old"\n# gone\n\n[mcp_servers.cloakroom.env]\nA = "1"\n\n# of the next\n[z]\nb = 2026-01-02\n`,
      `a = 1\n\n${TABLE}\n# of the next\n[z]\nb = 2026-01-02\n`,
    ],
    [
      'a name that begins like ours',
      '[mcp_servers.cloakroom-two]\ncommand = "x"\n',
      `[mcp_servers.cloakroom-two]\ncommand = "x"\n\n${TABLE}`,
    ],
  ]
  test.each(cases)('%s', (_, before, after) => {
    expect(write('toml', before).text).toBe(after)
    expect(write('toml', after)).toEqual({ before: entry, text: after })
  })

  test('adding and then removing the entry restores the file', () => {
    expect(write('toml', write('toml', other).text, null).text).toBe(other)
    expect(write('toml', TABLE, null).text).toBe('')
    expect(write('toml', `${TABLE}\n[z]\n`, null).text).toBe('\n[z]\n')
  })

  test('an added entry has the line endings of its file', () => {
    const { text } = write('toml', 'a = 1\r\n')
    expect(text).toBe(`a = 1\r\n\r\n${TABLE.replaceAll('\n', '\r\n')}`)
  })

  test.each([
    ['broken', '[mcp_servers\n'],
    ['servers written in one line', 'mcp_servers = { other = { command = "x" } }\n'],
    ['our table in a text', 'a = """\n[mcp_servers.cloakroom]\n"""\n'],
    [
      'our tables apart from each other',
      '[mcp_servers.cloakroom]\ncommand = "x"\n[z]\n[mcp_servers.cloakroom.env]\nA = "1"\n',
    ],
  ])('a TOML edit is rejected: %s', (_, text) => {
    expect(() => write('toml', text)).toThrow()
  })
})
