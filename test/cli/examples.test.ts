// tier: quick
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Group, Spec } from '../../src/cli/command.ts'
import { loadCommands } from '../../src/cli/commands/index.ts'
import { groups, topLevel } from './every_command.ts'

test('every command has help with examples that begin with its own name', () => {
  const all = [
    ...topLevel.map((spec) => ({ spec, prefix: '' })),
    ...groups.flatMap(({ name, commands }) =>
      commands.map((spec) => ({ spec, prefix: `${name} ` })),
    ),
  ]
  for (const { spec, prefix } of all) {
    const name = `${prefix}${spec.usage.split(' ')[0]}`
    expect({
      name,
      examples: spec.examples.filter((example) => example.startsWith(name)).length,
    }).toEqual({
      name,
      examples: spec.examples.length,
    })
    expect(spec.examples.length).toBeGreaterThan(0)
  }
})

test('the table of contents has every command with the usage that its file declares', async () => {
  const usages = (entries: readonly (Spec | Group)[]) =>
    entries.flatMap((entry) =>
      'commands' in entry
        ? entry.commands.map(({ usage, about }) => `${entry.name} ${usage}: ${about}`)
        : [`${entry.usage}: ${entry.about}`],
    )
  const listed = usages(await loadCommands([]))
  const declared = usages([...topLevel, ...groups])
  expect(declared.sort()).toEqual(listed.sort())
})

test('every file in a folder of commands is one command', () => {
  const folder = join(import.meta.dir, '../../src/cli/commands')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.includes('/'),
  )
  const commands = topLevel.length + groups.flatMap(({ commands }) => commands).length
  expect(files.length).toBe(commands)
})
