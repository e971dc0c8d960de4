/** A person who follows a guide at a terminal. The APIs that the guide names are on loopback. */
import { expect } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { executable } from '../binary/executable.ts'
import { openAccount, type Terminal } from '../cli/person.ts'
import { type Typed, typing } from '../cli/pseudo_terminal.ts'
import { type Stage, sharedStage } from '../support/agent.ts'
import { freshEmail } from '../support/app.ts'
import { answerOf } from '../support/upstream.ts'

export type Reader = {
  stage: Stage
  ada: Terminal
  /** The environment of each line. */
  env: Record<string, string>
  /** The text with the test's port after each host of an API that has no port. */
  placed(text: string): string
  /** Puts a program on the PATH, in place of one that the test machine may lack. */
  install(name: string, script: string): void
  /** Types a line that must succeed. @returns what the screen shows */
  type(line: string, typed?: readonly Typed[]): Promise<string>
  stop(): Promise<void>
}

/** @param hosts of the APIs. */
export async function openReader(hosts: readonly string[]): Promise<Reader> {
  const stage = await sharedStage({ names: hosts })
  const ada = await openAccount(stage.app, freshEmail('reader'))
  await ada.must('init', 'payments')
  const programs = join(ada.home, 'programs')
  mkdirSync(programs)
  const env = {
    PATH: `${programs}:${dirname(await executable())}:${process.env.PATH}`,
    HOME: ada.home,
    XDG_RUNTIME_DIR: ada.home,
    SERVICE_SERVER_URL: stage.app.controlPlane,
    SERVICE_RESOLVER_URL: stage.app.resolver,
    RESOLVER_HOSTS: hosts.map((host) => `${host}=127.0.0.1`).join(','),
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: stage.caFile,
  }
  const placed = (text: string) =>
    hosts.reduce(
      (before, host) => before.replaceAll(new RegExp(`${host}(?!:)`, 'g'), stage.authorityOf(host)),
      text,
    )
  return {
    stage,
    ada,
    env,
    placed,
    install: (name, script) => {
      writeFileSync(join(programs, name), `#!/bin/sh\n${placed(script)}\n`, { mode: 0o755 })
    },
    type: async (line, typed = []) => {
      const command = ['bash', '-c', placed(line)]
      const { code, screen } = await typing(command, { cwd: ada.cwd, env, typed })
      expect({ line, code, screen: code === 0 ? '' : screen }).toEqual({
        line,
        code: 0,
        screen: '',
      })
      return screen
    },
    stop: async () => {
      ada.remove()
      await stage.stop()
    },
  }
}

/** An answer that repeats a header, as careless APIs do. */
export function echoOf(header: string): Parameters<Stage['upstream']['on']>[1] {
  return (request, wire) =>
    void wire.write(
      answerOf(200, { 'content-type': 'text/plain' }, `got ${request.header(header)}\n`),
    )
}
