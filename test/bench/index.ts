/** `bun run bench [name] [options]`: runs the measurements of docs/internals/performance.md. */
import { benchCold } from './cold.ts'
import { benchCommands } from './commands.ts'
import { benchGuard } from './guard.ts'
import { benchIsolation } from './isolation.ts'
import { benchLarge } from './large.ts'
import { benchLists } from './lists.ts'
import { benchRecord } from './record.ts'
import { benchResolver } from './resolver.ts'
import { benchSecrets } from './secrets.ts'
import { benchSigchain } from './sigchain.ts'
import { benchStart } from './start.ts'

const benches: Record<string, (args: string[]) => Promise<void>> = {
  start: benchStart,
  commands: benchCommands,
  resolver: benchResolver,
  record: benchRecord,
  lists: benchLists,
  cold: benchCold,
  secrets: benchSecrets,
  guard: benchGuard,
  isolation: benchIsolation,
  sigchain: benchSigchain,
  large: benchLarge,
}

/** Takes a quarter of an hour and gigabytes, so it runs only on request. */
const LONG = 'large'

const [name, ...args] = process.argv.slice(2)
if (name === 'part') {
  const { runPart } = await import('./parts.ts')
  await runPart(args[0] ?? '', args[1] ?? 'null')
} else {
  const chosen = Object.entries(benches).filter(([known]) =>
    name === undefined ? known !== LONG : known === name,
  )
  if (chosen.length === 0) {
    process.stderr.write(`Usage: bun run bench [${Object.keys(benches).join('|')}] [options]\n`)
    process.exitCode = 2
  }
  for (const [title, bench] of chosen) {
    process.stdout.write(`\n## ${title}\n\n`)
    await bench(args)
  }
}
