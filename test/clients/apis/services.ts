/** Vendors of other services. */
import type { Api } from './api.ts'

const stripe: Api = {
  host: 'api.stripe.com',
  otherHosts: ['files.stripe.com'],
  credentials: { STRIPE_SECRET_KEY: 'sk_live_' },
  base: { STRIPE_URL: '' },
  answers: {
    call: (description) => ({
      body: { id: 'ch_1', object: 'charge', amount: 1999, currency: 'eur', description },
    }),
    upload: (receipt) => ({
      body: { id: receipt, object: 'file', purpose: 'dispute_evidence', size: 1 },
    }),
    error: (message) => ({
      status: 402,
      body: { error: { type: 'card_error', code: 'card_declined', message } },
    }),
  },
}

const github: Api = {
  host: 'api.github.com',
  credentials: { GITHUB_TOKEN: 'ghp_' },
  base: { GITHUB_API_URL: '' },
  answers: {
    call: (description) => ({
      body: {
        ...{ id: 1, name: 'things', full_name: 'acme/things', description, private: false },
        ...{ url: 'https://api.github.com/repos/acme/things', owner: { login: 'acme', id: 1 } },
      },
    }),
    upload: (sha) => ({
      status: 201,
      body: {
        content: {
          type: 'file',
          name: 'file.bin',
          path: 'file.bin',
          sha,
          url: 'https://api.github.com/x',
        },
        commit: { sha, url: 'https://api.github.com/y' },
      },
    }),
    error: (message) => ({
      status: 404,
      body: { message, documentation_url: 'https://docs.github.com' },
    }),
  },
}

const slack: Api = {
  host: 'slack.com',
  credentials: { SLACK_BOT_TOKEN: 'xoxb-' },
  locations: ['form'],
  base: { SLACK_API_URL: '/api' },
  answers: {
    call: (text) => ({ body: { ok: true, channel: 'C1', ts: '1.0', text, message: { text } } }),
    upload: (avatar_hash) => ({ body: { ok: true, profile: { avatar_hash } } }),
    error: (message) => ({ body: { ok: false, error: message } }),
  },
}

const twilio: Api = {
  host: 'api.twilio.com',
  credentials: { TWILIO_AUTH_TOKEN: '' },
  base: { TWILIO_URL: '' },
  answers: {
    call: (body) => ({ status: 201, body: { sid: 'SM1', status: 'queued', body } }),
    error: (message) => ({
      status: 400,
      body: { code: 21211, message, more_info: '', status: 400 },
    }),
  },
}

const sendgrid: Api = {
  host: 'api.sendgrid.com',
  credentials: { SENDGRID_API_KEY: 'SG.' },
  base: { SENDGRID_URL: '' },
  answers: {
    call: (text) => ({ body: { text } }),
    upload: (receipt) => ({ status: 202, body: { receipt } }),
    error: (message) => ({ status: 400, body: { errors: [{ message, field: null, help: null }] } }),
  },
}

const notion: Api = {
  host: 'api.notion.com',
  credentials: { NOTION_TOKEN: 'ntn_' },
  base: { NOTION_URL: '' },
  answers: {
    call: (name) => ({ body: { object: 'user', id: '1', type: 'bot', name } }),
    upload: (id) => ({ body: { object: 'file_upload', id, status: 'uploaded' } }),
    error: (message) => ({
      status: 404,
      body: { object: 'error', status: 404, code: 'object_not_found', message },
    }),
  },
}

const discord: Api = {
  host: 'discord.com',
  credentials: { DISCORD_TOKEN: '' },
  base: { DISCORD_URL: '/api' },
  answers: {
    call: (username) => ({ body: { id: '1', username } }),
    upload: (id) => ({ body: { id } }),
    error: (message) => ({ status: 404, body: { code: 10003, message } }),
  },
}

const supabase: Api = {
  host: 'acme.supabase.co',
  credentials: { SUPABASE_KEY: 'sb_secret_' },
  base: { SUPABASE_URL: '' },
  answers: {
    call: (text) => ({ body: [{ id: 1, text }] }),
    upload: (receipt) => ({ body: { Id: receipt, Key: 'files/file.bin' } }),
    error: (message) => ({
      status: 404,
      body: { code: '42P01', details: null, hint: null, message },
    }),
  },
}

const resend: Api = {
  host: 'api.resend.com',
  credentials: { RESEND_API_KEY: 're_' },
  base: { RESEND_BASE_URL: '' },
  answers: {
    call: (id) => ({ body: { id } }),
    upload: (id) => ({ body: { id } }),
    error: (message) => ({ status: 404, body: { statusCode: 404, name: 'not_found', message } }),
  },
}

/** The first answer of git's smart protocol (`man 5 gitprotocol-http`). */
const git: Api = {
  host: 'git.example.com',
  isOwn: true,
  credentials: { GIT_PASSWORD: 'glpat-' },
  base: { GIT_URL: '' },
  answers: {
    call: (text) => {
      const line = (content: string) =>
        `${(content.length + 4).toString(16).padStart(4, '0')}${content}`
      const reference = `${'1'.repeat(40)} refs/heads/${text}\0agent=fake\n`
      return {
        headers: { 'content-type': 'application/x-git-upload-pack-advertisement' },
        body: `${line('# service=git-upload-pack\n')}0000${line(reference)}0000`,
      }
    },
    error: (body) => ({ status: 404, headers: { 'content-type': 'text/plain' }, body }),
  },
}

export const services = {
  ...{ stripe, github, git, slack, twilio, sendgrid, notion, discord, supabase, resend },
}
