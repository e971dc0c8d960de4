import { readFileSync } from 'node:fs'
import Stripe from 'stripe'
import { FILE, main } from './common.mjs'

const { STRIPE_SECRET_KEY, STRIPE_URL } = process.env
// It has a host but no base path, so the path is set in its `fetch`.
const through = (url, init) =>
  fetch(url.replace(/https:\/\/(api|files)\.stripe\.com/, STRIPE_URL), init)
const httpClient = Stripe.createFetchHttpClient(STRIPE_URL ? through : undefined)
const stripe = new Stripe(STRIPE_SECRET_KEY, { httpClient })

await main({
  call: async () => {
    const charge = await stripe.charges.create({
      amount: 1999,
      currency: 'eur',
      source: 'tok_visa',
    })
    console.log(charge.description)
  },
  upload: async () => {
    const file = { data: readFileSync(FILE), name: 'file.bin', type: 'application/octet-stream' }
    console.log((await stripe.files.create({ purpose: 'dispute_evidence', file })).id)
  },
})
