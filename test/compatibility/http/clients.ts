import axios from 'axios'
import { got } from 'got'
import nodeFetch, { FormData as NodeFormData } from 'node-fetch'
import { Agent, FormData as UndiciFormData, request as undici } from 'undici'
import { callsOf, type Request } from './calls.ts'
import type { Connect } from '../scenario.ts'

type Lists = Record<string, string | string[]>

/** A list as PHP's `http_build_query` writes it: `include[0]=…&include[1]=…`. */
function numbered(query: Lists): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : value.map((one, i) => [`${name}[${i}]`, one]),
  )
  return new URLSearchParams(pairs as string[][]).toString()
}

/** A list as a repeated parameter. */
function repeated(query: Lists): string {
  return new URLSearchParams(Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]))).toString()
}

function formWith<F extends { set(name: string, value: any): void }>(form: F, file: File): F {
  form.set('file', file)
  return form
}

/** Libraries that send requests, by the names of their packages. Each one writes lists, forms and headers in its own way. */
export const LIBRARIES: Readonly<Record<string, Connect>> = {
  // `include[]=`, and `application/merge-patch+json`
  axios: (baseURL, token) => {
    const api = axios.create({ baseURL, headers: { authorization: `Bearer ${token}` }, validateStatus: () => true })
    return callsOf(async ({ method, path, query, json, file, headers, bytes }) => {
      const type = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
      const data = file === undefined ? json : formWith(new FormData(), file)
      const responseType = bytes ? 'arraybuffer' : 'json'
      return (await api.request({ method, url: path, params: query, data, headers: { ...headers, ...type }, responseType })).data
    })
  },
  got: (url, token) =>
    callsOf(async ({ method, path, query, json, file, headers, bytes }) => {
      const body = file === undefined ? {} : { body: formWith(new FormData(), file) }
      const response = await got(`${url}${path}${query === undefined ? '' : `?${repeated(query)}`}`, {
        method: method as 'GET',
        headers: { authorization: `Bearer ${token}`, ...headers },
        throwHttpErrors: false,
        responseType: 'buffer',
        ...(json === undefined ? body : { json }),
      })
      return bytes ? response.body : JSON.parse(Buffer.from(response.body).toString())
    }),
  // the query as PHP writes it, and a slash at the end
  undici: (url, token) => {
    const dispatcher = new Agent()
    return callsOf(async ({ method, path, query, json, file, headers, bytes }) => {
      const response = await undici(`${url}${path}/${query === undefined ? '' : `?${numbered(query)}`}`, {
        dispatcher,
        method: method as 'GET',
        headers: { authorization: `Bearer ${token}`, ...headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
        body: file === undefined ? (json === undefined ? null : JSON.stringify(json)) : formWith(new UndiciFormData(), file),
      })
      return bytes ? response.body.arrayBuffer() : response.body.json()
    })
  },
  // a list with commas
  'node-fetch': (url, token) =>
    callsOf(async ({ method, path, query, json, file, headers, bytes }: Request) => {
      const commas = new URLSearchParams(Object.entries(query ?? {}).map(([name, value]) => [name, [value].flat().join(',')]))
      const response = await nodeFetch(`${url}${path}?${commas.toString()}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        ...(file === undefined ? {} : { body: formWith(new NodeFormData(), file) }),
      })
      return bytes ? response.arrayBuffer() : response.json()
    }),
}
