#!/usr/bin/env bun
/** argv → a subcommand; nothing else. */
import { runCommand } from './cli/index.ts'

process.exitCode = await runCommand(process.argv.slice(2))
