// tier: quick
/** `cloakroom help`: pages of the documentation in the terminal. */
import { afterAll, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { renderForTerminal } from '../../src/cli/help/on_terminal.ts'
import { commandNames, helpCommandFor, nameTopics } from '../../src/cli/help/topics.ts'
import { readPages } from '../../src/console/docs/texts.ts'
import { faultDocs } from '../../src/http/advice.ts'
import { answering } from './answering.ts'
import { openTerminal } from './person.ts'

const nowhere = 'http://127.0.0.1:1'
const ada = await openTerminal({ controlPlane: nowhere, resolver: nowhere })
afterAll(() => ada.remove())

const pages = await readPages()
const topics = nameTopics(pages)

test('every page is a topic, and no topic has the name of a command or of another page', () => {
  expect(topics.size).toBe(pages.length)
  expect([...topics.keys()].filter((name) => commandNames().has(name))).toEqual([])
})

test('every topic prints its page with all headings, and no line of text is wider than the terminal', async () => {
  for (const [name, { text }] of topics) {
    const { code, out } = await ada.run(['help', name])
    expect({ name, code }).toEqual({ name, code: 0 })
    const prose = out.split('\n').filter((line) => !/^ {4}|^\s*[|+]/.test(line))
    expect(prose.filter((line) => /\s\S+\s/.test(line.trim()) && line.length > 80)).toEqual([])
    for (const [, heading = ''] of text.matchAll(/^## (\w[\w ]+)$/gm))
      expect(out).toContain(heading)
  }
})

test('cloakroom help lists the commands, then the topics by layer', async () => {
  const [{ out: help }, { out: commands }] = [await ada.run(['help']), await ada.run(['--help'])]
  expect(help).toStartWith(commands)
  const added = help.slice(commands.length)
  const layers = [...added.matchAll(/^(\w+):$/gm)].map(([, layer]) => layer)
  expect(layers).toEqual(['Start', 'Guides', 'Reference', 'Internals'])
  for (const name of topics.keys()) expect(added).toMatch(new RegExp(`^  ${name} `, 'm'))
})

test("a command's name prints its help, and names the page of the same name", async () => {
  const { out: help } = await ada.run(['help', 'secrets', 'set'])
  expect(help).toStartWith((await ada.run(['secrets', 'set', '--help'])).out)
  const { code, out } = await ada.run(['help', 'console'])
  expect(code).toBe(0)
  expect(out).toStartWith('Usage: cloakroom console [options]')
  expect(out).toEndWith('\nGuide: cloakroom help guides/console\n')
  expect((await ada.run(['help', 'guides/console'])).code).toBe(0)
})

test('an error code prints its row, and a documentation path from an error or check prints the page', async () => {
  const { code, out } = await ada.run(['help', 'domain_blocked'])
  expect(code).toBe(0)
  expect(out).toMatch(/^domain_blocked\n/)
  expect(out).toContain('cloakroom allowlist add')
  const { out: page } = await ada.run(['help', 'docs/guides/backup.md#restore'])
  expect(page).toStartWith('Restore\n')
})

test('an anchor prints one section, with the sections below it', async () => {
  const { code, out } = await ada.run(['help', 'approvals#limits'])
  expect(code).toBe(0)
  expect(out).toMatch(/^Limits\n------\n/)
  expect(out).not.toContain('Troubleshooting\n---')
  const unknown = await ada.run(['help', 'approvals#no-such-section'])
  expect([unknown.code, unknown.err]).toEqual([
    4,
    'cloakroom: there is no section no-such-section in approvals (not_found)\n→ list them with: cloakroom help approvals\n',
  ])
})

test('an unknown topic suggests topics and commands with a similar name', async () => {
  const { code, err } = await ada.run(['help', 'agnets'])
  expect([code, err]).toEqual([
    4,
    'cloakroom: there is no help topic agnets (not_found)\n→ is it agents?\n',
  ])
  expect((await ada.run(['help', 'secretz'])).err).toContain('secrets')
  expect((await ada.run(['help', 'qqqqqqqq'])).err).toContain('list them with: cloakroom help')
})

test('--json prints the Markdown of a page for programs', async () => {
  const { out } = await ada.run(['help', 'agents', '--json'])
  const page = pages.find(({ path }) => path === 'guides/agents')
  expect(JSON.parse(out)).toEqual({
    page: 'guides/agents',
    title: 'Agents',
    text: page?.text ?? '',
  })
})

test('a terminal gets bold headings, and none with NO_COLOR', async () => {
  const env = { HOME: tmpdir(), TERM: 'xterm' }
  const { screen } = await answering(['help', 'agents'], { cwd: tmpdir(), env })
  expect(screen).toContain('\x1b[1m')
  const plain = await answering(['help', 'agents'], {
    cwd: tmpdir(),
    env: { ...env, NO_COLOR: '1' },
  })
  expect(plain.screen).not.toContain('\x1b')
})

test('code blocks can be copied, tables stay tables, and relative links and pictures become text', () => {
  const markdown =
    '# One\n\nSee [the page](../a.md#b) and [this](https://example.com). ![p](x.png)\n\n```sh\ncloakroom run -- x\n\n  y\n```\n\n| a | b |\n|---|---|\n| `c` | d |\n'
  const text = renderForTerminal(markdown, { width: 80, colour: false })
  expect(text).toBe(
    'One\n===\n\nSee the page and this (https://example.com).\n\n    cloakroom run -- x\n\n      y\n\n+-----+-----+\n| a   | b   |\n+-----+-----+\n| `c` | d   |\n+-----+-----+\n',
  )
})

test('the command for a documentation section works for every code of the server, and contains nothing else', async () => {
  for (const docs of new Set(Object.values(faultDocs))) {
    const [, , ...words] = (helpCommandFor(docs) ?? '').split(' ')
    expect({ docs, code: (await ada.run(['help', ...words])).code }).toEqual({ docs, code: 0 })
  }
  expect(helpCommandFor('reference/errors.md#conflict')).toBe('cloakroom help errors#conflict')
  for (const docs of ['errors.md#a; rm -rf ~', 'https://evil.example/', 'a.md $(id)', '', 'a.md#'])
    expect(helpCommandFor(docs)).toBeNull()
})
