// tier: quick
/** Commands that the console shows for a terminal. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { commandAt } from '../support/command_lines.ts'

const WEB = join(import.meta.dir, '..', '..', 'src', 'console', 'web')
/** In quotes, or after a colon or a backtick in a text. */
const COMMAND = /(?:['"`]|: )cloakroom ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g

test('every command that the console shows exists', async () => {
  const shown: string[][] = []
  for await (const name of new Bun.Glob('**/*.{ts,tsx}').scan(WEB)) {
    if (name.startsWith('design/') || name === 'keys/tabs.ts') continue
    const text = await Bun.file(join(WEB, name)).text()
    for (const [, first = '', second = ''] of text.matchAll(COMMAND)) shown.push([first, second])
  }
  expect(shown.length).toBeGreaterThan(20)
  expect(shown.filter((words) => commandAt(words) === null)).toEqual([])
})
