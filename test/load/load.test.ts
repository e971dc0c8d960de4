// tier: all
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { otherPackages } from '../support/other_programs.ts'
import { watched } from '../support/watched.ts'
import { judge, type Sample, slope } from './judge.ts'

const HEALTHY = { answers: 100_000, failures: 0 }

/** Ten minutes with a sample each second. */
function minutesOf(read: (seconds: number) => Partial<Sample>, seconds = 600): Sample[] {
  return Array.from({ length: seconds }, (_, second) => ({
    seconds: second,
    // Goes up and down like memory under a garbage collector.
    residentMb: 180 + 40 * Math.abs(Math.sin(second / 7)),
    openFiles: 60 + (second % 5),
    ...read(second),
  }))
}

function badOf(samples: Sample[], answers = HEALTHY): string[] {
  return judge(samples, answers).flatMap(({ what, isGood }) => (isGood ? [] : [what]))
}

describe('the verdict of bun run load', () => {
  test('a server whose memory goes up and down passes, whatever it used at first', () => {
    expect(badOf(minutesOf(() => ({})))).toEqual([])
    const warming = (second: number) => ({ residentMb: 200 - 120 * Math.exp(-second / 40) })
    expect(badOf(minutesOf(warming))).toEqual([])
  })

  test('a server that leaks memory is detected despite the noise of its collector', () => {
    const leaking = (second: number) => ({
      residentMb: 180 + 40 * Math.abs(Math.sin(second / 7)) + second * 0.1,
    })
    expect(badOf(minutesOf(leaking))).toEqual(['memory'])
  })

  test('a server that leaks a descriptor every ten seconds is detected', () => {
    const leaking = (second: number) => ({ openFiles: 60 + (second % 5) + Math.floor(second / 10) })
    expect(badOf(minutesOf(leaking))).toEqual(['open files'])
  })

  test('one moment with many connections is not a leak', () => {
    const once = (second: number) => ({ openFiles: second > 400 && second < 460 ? 900 : 60 })
    expect(badOf(minutesOf(once))).toEqual([])
  })

  test('more than one failure in a thousand fails, and so does a run without answers', () => {
    const samples = minutesOf(() => ({}))
    expect(badOf(samples, { answers: 100_000, failures: 100 })).toEqual([])
    expect(badOf(samples, { answers: 100_000, failures: 101 })).toEqual(['failures'])
    expect(badOf(samples, { answers: 0, failures: 0 })).toEqual(['failures'])
  })

  test('the verdict of a run of a few seconds states that memory and files are not judged', () => {
    const samples = minutesOf((second) => ({ residentMb: 100 * second }), 20)
    const [memory, files] = judge(samples, HEALTHY)
    expect([memory?.why, files?.why]).toEqual(
      Array(2).fill('not judged: 12 s are too short for that'),
    )
  })

  test('a slope is the median over all pairs, and one point has no slope', () => {
    expect(
      slope([
        [0, 1],
        [1, 3],
        [2, 5],
        [3, 900],
        [4, 9],
      ]),
    ).toBe(2)
    expect(slope([[0, 1]])).toBe(0)
  })
})

test('bun run load loads a real server in every way, and writes figures and a picture of them', async () => {
  await otherPackages()
  const out = mkdtempSync(join(tmpdir(), 'cr-load-test-'))
  const main = join(import.meta.dir, 'index.ts')
  const options = ['--minutes', '0.1', '--connections', '2', '--database', 'embedded', '--out', out]
  const child = watched(
    Bun.spawn([process.execPath, main, ...options], { stdout: 'pipe', stderr: 'pipe' }),
  )
  const [text, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  try {
    expect([await child.exited, errors]).toEqual([0, ''])
    expect(text).toContain('good  failures: 0 of ')
    expect(readdirSync(out).sort()).toEqual(['load.csv', 'load.json', 'load.svg'])
    const report = JSON.parse(readFileSync(join(out, 'load.json'), 'utf8'))
    const { kinds } = report as { kinds: { kind: string; answers: number; p99_ms: number }[] }
    expect(kinds.filter(({ answers, p99_ms }) => !(answers > 0 && p99_ms > 0))).toEqual([])
    expect(kinds).toHaveLength(10)
    // A live feed receives the agents' calls while they are made.
    expect(report.live_events).toBeGreaterThan(0)
    expect(report.samples.at(-1).openFiles).toBeGreaterThan(10)
    expect(readFileSync(join(out, 'load.csv'), 'utf8')).toMatch(/^seconds,residentMb,openFiles,/)
    const picture = readFileSync(join(out, 'load.svg'), 'utf8')
    expect(picture).toMatch(/^<svg /)
    for (const { kind } of kinds) expect(picture).toContain(`>${kind}</text>`)
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
})
