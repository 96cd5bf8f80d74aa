export { AnswerOnce } from './answer-once.js';
