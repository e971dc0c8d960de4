/** `cloakroom rekey-outer`: for who runs a server, with its settings. */
import { EX_FAILED } from '../../../core/exit_codes.ts'
import { printableJson } from '../../../core/printable.ts'
import { serverConfig } from '../../../operator/backup/index.ts'
import {
  countUnder,
  type Progress,
  type RekeyResult,
  rekeyOuter,
} from '../../../operator/rekey_outer/index.ts'
import { command } from '../../command.ts'
import { runExplained } from '../../operator.ts'
import { CliError } from '../../terminal/cli_error.ts'
import type { Output } from '../../terminal/output.ts'

export default command({
  usage: 'rekey-outer',
  examples: ['rekey-outer --dry-run', 'rekey-outer', 'rekey-outer --batch 50 --pause 200'],
  options: [
    ['--batch <count>', 'rows per batch', '100'],
    ['--pause <milliseconds>', 'pause between batches, to leave capacity for other work', '0'],
    ['--dry-run', 'read and decrypt all data, without writing'],
  ],
  action: ({ host, output }, _, options) =>
    runExplained(host, async () => {
      const wanted = {
        batch: numberOf('--batch', options.batch, { min: 1, max: MAX_BATCH }),
        pauseMs: numberOf('--pause', options.pause, { min: 0, max: MAX_PAUSE_MS }),
        dryRun: options.dryRun === true,
      }
      const tell = (progress: Progress) => show(output, progress)
      const result = await rekeyOuter(serverConfig(), wanted, tell)
      conclude(output, result)
      const isDone = result.unreadable === 0 && Object.keys(result.needed_keys).length === 0
      return isDone || wanted.dryRun ? 0 : EX_FAILED
    }),
})

const MAX_BATCH = 1_000

const MAX_PAUSE_MS = 60_000

function numberOf(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  throw new CliError('usage', `${name} must be a number from ${min} to ${max}`)
}

function show(output: Output, progress: Progress): void {
  if (output.isJson) output.raw(`${printableJson(progress)}\n`)
  else if (progress.event === 'progress') {
    const { table, resealed, left, rows_per_second: rate, seconds_left: seconds } = progress
    output.note(`${table}: ${resealed} done, ${left} left, ${rate} a second, ${seconds} s to go`)
  } else if (progress.event === 'unreadable') {
    const { table, column, row, key } = progress
    const under = key === null ? 'is too short' : `is marked as sealed with the key ${key}`
    output.warn(
      `cannot be decrypted, left unchanged: ${table}.${column} of ${row.join(' / ')}, which ${under}`,
    )
  } else {
    const left = countUnder(progress.rows, (key) => key !== progress.key)
    output.note(`${left} are not yet sealed with the key ${progress.key}`)
  }
}

const WHY = {
  rows: 'it still seals stored data',
  process: 'a running process writes with it: restart it with the new key first in ENCRYPTION_KEY',
}

function conclude(output: Output, result: RekeyResult): void {
  const { key, dry_run, resealed, unreadable, unused_keys: unused, needed_keys } = result
  if (output.isJson) {
    output.raw(`${printableJson({ event: 'done', ...result })}\n`)
    return
  }
  const left = countUnder(result.rows, (id) => id !== key)
  output.say(
    dry_run
      ? `would reseal ${left - unreadable} with the key ${key}`
      : `resealed ${resealed} with the key ${key}`,
  )
  if (unreadable > 0)
    output.warn(`${unreadable} cannot be decrypted with any key in ENCRYPTION_KEY`)
  for (const [id, why] of Object.entries(needed_keys))
    if (!dry_run) output.warn(`the key ${id} is still needed: ${WHY[why]}; then run this again`)
  for (const id of unused)
    output.say(
      resealed > 0
        ? `${id} is no longer used: remove it from ENCRYPTION_KEY everywhere, and keep it as long as older backups`
        : `${id} is not used: put a new key first in ENCRYPTION_KEY everywhere; remove an old key, and keep it as long as older backups`,
    )
}
