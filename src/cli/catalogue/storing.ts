/** Options of commands that move values between files and an environment. */
import { allowEmpty, dryRun, raw, references, sensitivityOptions, token, yes } from './options.ts'

const dialect = [
  '--dialect <dialect>',
  'the program whose .env files these are: docker, dotenv, bash or compose',
] as const
const storedEmpty = ['--allow-empty', 'store empty values'] as const
const storedUnsafe = [
  '--allow-env <secret...>',
  'store this name although it steers shells, loaders or interpreters',
] as const
export const setOptions = [
  ['--mine', 'for you on this machine only: nothing is uploaded'],
  [
    '--from-file <path>',
    'dotenv, JSON, YAML, or an export of Doppler or Infisical; - for standard input',
  ],
  dialect,
  ['--stdin', 'read the value of a single NAME from standard input'],
  [
    '--policy <json>',
    'narrow where the values may go; without it policies stay, null removes them',
  ],
  references,
  ...sensitivityOptions,
  storedEmpty,
  storedUnsafe,
  yes,
] as const
export const pushOptions = [
  dryRun,
  dialect,
  ['--prune', 'delete what the environment has and the file has not; asks'],
  references,
  ...sensitivityOptions,
  storedEmpty,
  storedUnsafe,
  yes,
] as const
export const pullOptions = [
  token,
  raw,
  [
    '--format <format>',
    "dotenv, json, yaml or shell; unless given what the file's name ends in, else dotenv",
  ],
  dialect,
  ['-f, --force', 'replace a file that is there and has other content'],
  yes,
  allowEmpty,
] as const
