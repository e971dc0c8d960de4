// tier: quick
/** Commands that the console shows for a terminal. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { groups, topLevel } from '../cli/every_command.ts'

const WEB = join(import.meta.dir, '..', '..', 'src', 'console', 'web')
/** In quotes, or after a colon or a backtick in a text. */
const COMMAND = /(?:['"`]|: )cloakroom ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g

const single = new Set(topLevel.map(({ usage }) => usage.split(' ')[0]))
const grouped = new Set(
  groups.flatMap(({ name, commands }) =>
    commands.map(({ usage }) => `${name} ${usage.split(' ')[0]}`),
  ),
)

test('every command that the console shows exists', async () => {
  const shown: string[] = []
  for await (const name of new Bun.Glob('**/*.{ts,tsx}').scan(WEB)) {
    if (name.startsWith('design/') || name === 'keys/tabs.ts') continue
    const text = await Bun.file(join(WEB, name)).text()
    for (const [, first = '', second = ''] of text.matchAll(COMMAND))
      shown.push(single.has(first) ? first : `${first} ${second}`)
  }
  expect(shown.length).toBeGreaterThan(20)
  expect(shown.filter((words) => !single.has(words) && !grouped.has(words))).toEqual([])
})
