/** Every command with its declaration, for tests that walk all commands. */
import type { Group, Spec } from '../../src/cli/command.ts'
import { loadCommands } from '../../src/cli/commands/index.ts'

const isGroup = (entry: Spec | Group): entry is Group => 'commands' in entry
const nameOf = ({ usage }: Spec) => usage.split(' ')[0] ?? ''
const listed = await loadCommands([])
const names = listed.flatMap((entry) =>
  isGroup(entry) ? [entry.name, ...entry.commands.map(nameOf)] : [nameOf(entry)],
)
const loaded = await loadCommands(names)

export const topLevel = loaded.filter((entry): entry is Spec => !isGroup(entry))
export const groups = loaded.filter(isGroup)
