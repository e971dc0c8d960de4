/**
 * A process to kill, started by durability.test.ts: opens the directory in its first argument and
 * prints what it has reached, one word per line.
 */
import postgres from 'postgres'
import { openEmbedded } from '../../../src/database/embedded/open.ts'

const [directory = '', task = 'hold'] = process.argv.slice(2)

try {
  await run()
} catch (error) {
  console.log(error instanceof Error ? `${error.name}: ${error.message}` : error)
  process.exit(1)
}

async function run(): Promise<void> {
  const started = performance.now()
  console.log('starting')
  const database = await openEmbedded({
    dataDir: directory,
    onFailure: (reason) => console.log(`failed: ${reason}`),
    log: () => console.log('extracting'),
  })
  const sql = postgres({ ...database.settings, max: 1, ssl: false, onnotice: () => undefined })
  await sql`CREATE TABLE IF NOT EXISTS marks (id integer PRIMARY KEY, body text)`
  console.log('open')
  if (task === 'measure') console.log(JSON.stringify(measure(started)))
  if (task === 'write') await writeForEver(sql)
  if (task === 'hold') await new Promise(() => setInterval(() => undefined, 1000))
  await sql.end()
  await database.close()
  console.log('closed')
}

async function writeForEver(sql: postgres.Sql): Promise<never> {
  const [row] = await sql<{ last: number }[]>`SELECT coalesce(max(id), 0) AS last FROM marks`
  for (let id = (row?.last ?? 0) + 1; ; id += 1) {
    await sql`INSERT INTO marks VALUES (${id}, ${'x'.repeat(id % 500)})`
    console.log(id)
  }
}

function measure(started: number) {
  return {
    milliseconds: Math.round(performance.now() - started),
    megabytes: Math.round(process.memoryUsage.rss() / 1e6),
  }
}
