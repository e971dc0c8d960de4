// tier: quick
/** The output of `--help`, for every command. */
import { expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { argumentText } from '../../src/cli/commands/argument_texts.ts'
import { globalOptions } from '../../src/cli/options.ts'
import { roleHelp } from '../../src/client/role_table.ts'
import { answering } from './answering.ts'
import { groups, topLevel } from './every_command.ts'

const surroundings = { cwd: tmpdir(), env: { HOME: tmpdir() } }
const helpOf = async (...words: string[]) => {
  const { code, screen } = await answering([...words, '--help'], surroundings)
  expect(code).toBe(0)
  return screen
}

test('cloakroom without arguments prints the grouped help on a terminal, and starts no server', async () => {
  const { code, screen } = await answering([], surroundings)
  expect(code).toBe(0)
  expect(screen).toBe(await helpOf())
  const headings = [...screen.matchAll(/^(\S.*):\r?$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual([
    'Options',
    'Start',
    'Secrets',
    'Agents',
    'Team and account',
    'This machine',
    'Server',
  ])
  for (const name of [
    ...topLevel.map(({ usage }) => usage.split(' ')[0]),
    ...groups.map((group) => group.name),
  ])
    expect(screen).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
})

const commands = [
  ...topLevel.map(({ usage }) => [usage]),
  ...groups.flatMap(({ name, commands }) => commands.map(({ usage }) => [name, usage])),
].map((words) => words.map((word) => word.split(' ')[0] ?? ''))

test('the help of every command lists the global options', async () => {
  for (const words of commands) {
    const help = await helpOf(...words)
    for (const [flags] of globalOptions) expect(help).toContain(`  ${flags} `)
  }
})

test('the help of every command begins with usage, description and examples', async () => {
  for (const words of commands) {
    const blocks = (await helpOf(...words)).split('\n\n')
    expect(blocks[0]).toStartWith(`Usage: cloakroom ${words.join(' ')}`)
    expect(blocks[2]).toStartWith(`Examples:\n  $ cloakroom ${words.join(' ')}`)
  }
})

test('every argument of every command has a description', () => {
  const specs = [...topLevel, ...groups.flatMap(({ commands }) => commands)]
  const words = specs.flatMap(({ usage }) => usage.split(' ').slice(1))
  expect(words.length).toBeGreaterThan(50)
  expect(words.filter((word) => argumentText(word) === '')).toEqual([])
})

test('the help of a group lists its commands before the options', async () => {
  for (const { name } of groups) {
    const help = await helpOf(name)
    expect(help.indexOf('\nCommands:\n')).toBeGreaterThan(0)
    expect(help.indexOf('\nCommands:\n')).toBeLessThan(help.indexOf('Global options:\n'))
  }
})

test('the help of commands about members has the table of roles', async () => {
  for (const name of ['members', 'invite', 'role'])
    for (const line of roleHelp().split('\n'))
      expect(await helpOf('workspace', name)).toContain(line)
})
